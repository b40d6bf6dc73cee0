/**
 * Which keys read what in their last pass, so that a change wakes its readers.
 *
 * A read counts from its own moment on, while the reads of the pass before still count too; when the pass has finished, only its own are left. After a
 * pass that did not finish both are kept.
 */
import type { Change } from "../Store.ts"
import * as LabelSelector from "../LabelSelector.ts"
import type { Subscription } from "../Pass.ts"
import type { KubeObject, ObjectRef } from "../KubeObject.ts"
import { keyOf } from "./key.ts"

/** One thing that was read, and who did. */
interface Address {
  readonly keys: Set<string>
  /** Takes it off its index; called when the last key has left. */
  readonly remove: () => void
  readonly subscription: Subscription
}

type List = Subscription & { readonly _tag: "List" }

/** Everything read of one kind. */
interface OfKind {
  readonly objects: Map<string, Address>
  /** Lists by text; those that demand a label stand in `labelled` too, else in `others`. */
  readonly lists: Map<string, Address>
  /** By one `label=value` that the object must have, so that a change does not ask thousands of selectors. */
  readonly labelled: Map<string, Set<Address>>
  readonly others: Set<Address>
}

export class Subscriptions {
  private readonly kinds = new Map<string, OfKind>()
  /** Of each key what it read, and in which of its passes last. */
  private readonly reads = new Map<string, { pass: number; readonly addresses: Map<Address, number> }>()

  /** A pass of the key begins. */
  begin(key: string): void {
    const read = this.reads.get(key)
    if (read === undefined) this.reads.set(key, { pass: 1, addresses: new Map() })
    else read.pass++
  }

  /** The key's running pass reads something: to be called before the cache is asked. */
  read(key: string, subscription: Subscription): void {
    const read = this.reads.get(key)
    if (read === undefined) return
    const address = this.addressOf(subscription)
    address.keys.add(key)
    read.addresses.set(address, read.pass)
  }

  /** The key's pass has finished: what only earlier passes read no longer counts. */
  finish(key: string): void {
    const read = this.reads.get(key)
    if (read === undefined) return
    for (const [address, pass] of read.addresses) if (pass < read.pass) this.leave(read.addresses, address, key)
    if (read.addresses.size === 0) this.reads.delete(key)
  }

  /** The key is no more. */
  forget(key: string): void {
    const read = this.reads.get(key)
    if (read === undefined) return
    for (const address of read.addresses.keys()) this.leave(read.addresses, address, key)
    this.reads.delete(key)
  }

  /** Who read the object, or a list that it was or is in. */
  readersOf(kindId: string, { next, previous, ref }: Change): ReadonlySet<string> {
    const readers = new Set<string>()
    const ofKind = this.kinds.get(kindId)
    if (ofKind === undefined) return readers
    for (const key of ofKind.objects.get(keyOf(ref))?.keys ?? []) readers.add(key)
    const ask = (address: Address): void => {
      const list = address.subscription as List
      if (chooses(list, ref, previous) || chooses(list, ref, next)) for (const key of address.keys) readers.add(key)
    }
    ofKind.others.forEach(ask)
    if (ofKind.labelled.size > 0)
      for (const label of labelsOf(previous, next)) for (const address of ofKind.labelled.get(label) ?? []) ask(address)
    return readers
  }

  /** How much is held, for tests of leaks. */
  sizes() {
    let addresses = 0
    for (const { lists, objects } of this.kinds.values()) addresses += lists.size + objects.size
    return { keys: this.reads.size, addresses, kinds: this.kinds.size }
  }

  private leave(addresses: Map<Address, number>, address: Address, key: string): void {
    addresses.delete(address)
    address.keys.delete(key)
    if (address.keys.size === 0) address.remove()
  }

  private addressOf(subscription: Subscription): Address {
    const kindId = subscription.kind.id
    let ofKind = this.kinds.get(kindId)
    if (ofKind === undefined)
      this.kinds.set(
        kindId,
        (ofKind = { objects: new Map(), lists: new Map(), labelled: new Map(), others: new Set() })
      )
    const { labelled, lists, objects, others } = ofKind
    const [index, text] =
      subscription._tag === "Object" ? [objects, keyOf(subscription.ref)] : [lists, listText(subscription)]
    const known = index.get(text)
    if (known !== undefined) return known
    const label = subscription._tag === "Object" ? undefined : demanded(subscription)
    const address: Address = {
      subscription,
      keys: new Set(),
      remove: () => {
        index.delete(text)
        others.delete(address)
        if (label !== undefined) removeFrom(labelled, label, address)
        if (objects.size === 0 && lists.size === 0) this.kinds.delete(kindId)
      }
    }
    index.set(text, address)
    if (label !== undefined) addTo(labelled, label, address)
    else if (subscription._tag === "List") others.add(address)
    return address
  }
}

const addTo = (sets: Map<string, Set<Address>>, name: string, address: Address): void => {
  const set = sets.get(name)
  if (set === undefined) sets.set(name, new Set([address]))
  else set.add(address)
}

const removeFrom = (sets: Map<string, Set<Address>>, name: string, address: Address): void => {
  const set = sets.get(name)
  if (set?.delete(address) === true && set.size === 0) sets.delete(name)
}

const listText = ({ namespace, selector }: List): string => JSON.stringify([namespace ?? null, selector ?? null])

const labelText = (name: string, value: string): string => `${name}=${value}`

/** One label that every object of the list must have; undefined if there is none such. */
const demanded = ({ selector }: List): string | undefined => {
  for (const [name, value] of Object.entries(selector?.matchLabels ?? {})) return labelText(name, value)
  return undefined
}

const labelsOf = (...objects: ReadonlyArray<KubeObject | undefined>): ReadonlySet<string> =>
  new Set(
    objects.flatMap((object) =>
      Object.entries(object?.metadata.labels ?? {}).map(([name, value]) => labelText(name, value))
    )
  )

const chooses = ({ namespace, selector }: List, ref: ObjectRef, object: KubeObject | undefined): boolean =>
  object !== undefined &&
  (namespace === undefined || namespace === ref.namespace) &&
  (selector === undefined || LabelSelector.matches(selector, object.metadata.labels))
