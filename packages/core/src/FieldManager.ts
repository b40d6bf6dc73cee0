/** The one name under which an operator writes, in every verb (C10). Server-side apply keeps by it who owns which field. */
import * as Context from "effect/Context"

/**
 * Default `fixpoint`; `Operator.runMain` gives the program's name. Give your operator one of its own, at most 128 bytes, and never change it: fields owned under an
 * old name stay behind (B74).
 */
export const FieldManager = Context.Reference<string>("@fixpoint/core/FieldManager", { defaultValue: () => "fixpoint" })
