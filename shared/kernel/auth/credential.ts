import * as z from 'zod'

/** What the gateway proves itself with to an upstream. Its text form is JSON, kept as a Worker secret `CREDENTIAL_<UPSTREAM>`. */
export const Credential = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('basic'), access_key: z.string().regex(/^[^:]+$/), secret_key: z.string() }),
  z.strictObject({ kind: z.literal('token'), token: z.string().regex(/^[\x21-\x7e]+$/) }),
  z.strictObject({
    kind: z.literal('l2'),
    address: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
    api_key: z.uuid(),
    secret: z.string().min(1),
    passphrase: z.string().min(1),
    /** The wallet that may create and derive API keys (L1); without it those two calls are refused. */
    private_key: z
      .string()
      .regex(/^0x[0-9a-fA-F]{64}$/)
      .optional(),
    chain_id: z.int().positive().default(137),
  }),
])

export type Credential = z.output<typeof Credential>
