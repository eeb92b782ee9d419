const grammar = /^[A-Z0-9^=.\-_/$&+]{1,32}$/

/**
 * The symbol that a text names: 1 to 32 of `A-Z 0-9 ^ = . - _ / $ & +`, with only `a` to `z` raised (no Unicode
 * mapping, which would turn other letters into these) and nothing trimmed. Undefined when it is outside the grammar.
 */
export function fromSymbol(text: string): string | undefined {
  const symbol = text.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase())
  return grammar.test(symbol) ? symbol : undefined
}

/** Symbols of a list in order, each once, and the texts that are none. */
export function readSymbols(texts: readonly string[]): { symbols: string[]; rejected: string[] } {
  const symbols = new Set<string>()
  const rejected = new Set<string>()
  for (const text of texts) {
    const symbol = fromSymbol(text)
    if (symbol === undefined) rejected.add(text)
    else symbols.add(symbol)
  }
  return { symbols: [...symbols], rejected: [...rejected] }
}
