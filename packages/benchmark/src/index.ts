/** What Fixpoint costs, measured. */
export {}
