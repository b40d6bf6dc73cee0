/** Self-signed certificates for the servers of these tests. */
export { type Certificate, makeCertificate } from "@fixpoint/apiserver/Certificate"
