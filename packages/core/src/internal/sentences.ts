/** Types that are a sentence where the code is wrong: the compiler then says the sentence. They are `unknown` where it is right. */
import type { ReconcileError } from "../ReconcileError.ts"

/** The keys of any member of a union, of arrays none. */
type Known<B> = B extends unknown ? keyof B : never
type Field<B, K> = B extends unknown ? (K extends keyof B ? Exclude<B[K], undefined> : never) : never
type Leaf = string | number | boolean | bigint | symbol | null | undefined | Date | ((...args: any) => any)

/** The paths in A that B does not have, however deep; TypeScript does not look for them in what a lambda returns. */
type Strays<A, B, Path extends string> = [B] extends [never]
  ? never
  : unknown extends B
    ? never
    : A extends Leaf
      ? never
      : A extends ReadonlyArray<infer X>
        ? B extends ReadonlyArray<infer Y>
          ? Strays<X, Y, `${Path}[].`>
          : never
        : {
            [K in keyof A & string]: K extends Known<B> ? Strays<A[K], Field<B, K>, `${Path}${K}.`> : `${Path}${K}`
          }[keyof A & string]

/** Refuses a field that the server would prune in silence. */
export type NoOther<A, B> = [Strays<A, B, "">] extends [never]
  ? unknown
  : `${Strays<A, B, "">} is not a field of this kind`

/** How an error is named in a sentence. */
export type NameOf<E> = E extends { readonly _tag: infer Tag extends string } ? Tag : "an error without a tag"

/** Refuses a failure that does not say what happens next. */
// While a lambda's parameters are still being typed, E is `any`: nothing to refuse yet.
export type Decided<E, Who extends string> = 0 extends 1 & E
  ? unknown
  : [Exclude<E, ReconcileError>] extends [never]
    ? unknown
    : `${Who} can fail with ${NameOf<Exclude<E, ReconcileError>>}: say what happens next with Effect.mapError, for instance ReconcileError.classify`
