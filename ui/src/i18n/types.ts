// What a message may be, and the types that keep the two catalogues complete.

/** A sentence with `{name}` holes, or one per plural form (chosen by the number `count`). */
export type Message = string | { readonly one?: string; readonly other: string };

/** An area's catalogue: short keys, flat. */
export type Area = Record<string, Message>;

/** The same keys as another language's catalogue; a missing or surplus key doesn't compile. */
export type Translation<T extends Area> = { [K in keyof T]: Message };
