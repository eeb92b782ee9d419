import * as z from 'zod'
import { defineOperations } from '../kernel/contract/operation.ts'

/** Decimal digits of a uint256. Every fault of it has one text. */
const TokenId = z.string({ error: 'Invalid token id' }).regex(/^\d+$/, { error: 'Invalid token id' })

const Ok = z.literal('OK')

const ApiKeyCredentials = z
  .looseObject({
    apiKey: z.uuid(),
    /** URL-safe base64 with padding of 32 bytes. */
    secret: z.string(),
    passphrase: z.string().regex(/^[0-9a-f]{64}$/),
  })
  .meta({ id: 'ApiKeyCredentials' })

const BookLevel = z.looseObject({ price: z.string(), size: z.string() })

/** Prices and sizes are decimal text. The best level of each side is its last. */
export const OrderBookSummary = z
  .looseObject({
    market: z.string(),
    asset_id: z.string(),
    /** Unix milliseconds of the last change. */
    timestamp: z.string(),
    /** SHA-1 in hex of this object's compact text with an empty hash. */
    hash: z.string(),
    /** Price ascending. */
    bids: z.array(BookLevel).readonly(),
    /** Price descending. */
    asks: z.array(BookLevel).readonly(),
    min_order_size: z.string(),
    tick_size: z.string(),
    neg_risk: z.boolean(),
    /** Empty when nothing was traded yet. */
    last_trade_price: z.string(),
  })
  .meta({ id: 'OrderBookSummary' })

/** The order-book service. */
export const operations = defineOperations({
  getClobRoot: {
    method: 'GET',
    path: '/',
    auth: 'none',
    kind: 'read',
    scope: 'markets:read',
    summary: 'Whether the order-book service is up',
    response: { 200: Ok },
  },
  getClobOk: {
    method: 'GET',
    path: '/ok',
    auth: 'none',
    kind: 'read',
    scope: 'markets:read',
    summary: 'Whether the order-book service is up',
    response: { 200: Ok },
  },
  getServerTime: {
    method: 'GET',
    path: '/time',
    auth: 'none',
    kind: 'read',
    scope: 'markets:read',
    summary: 'The service clock in Unix seconds',
    response: { 200: z.int() },
  },
  getOrderVersion: {
    method: 'GET',
    path: '/version',
    auth: 'none',
    kind: 'read',
    scope: 'markets:read',
    summary: 'Which format of signed orders is taken',
    response: { 200: z.looseObject({ version: z.int() }) },
  },
  getBook: {
    method: 'GET',
    path: '/book',
    auth: 'none',
    kind: 'read',
    scope: 'markets:read',
    summary: 'The order book of one token',
    query: z.object({ token_id: TokenId }),
    response: { 200: OrderBookSummary },
  },
  createApiKey: {
    method: 'POST',
    path: '/auth/api-key',
    auth: 'l1',
    kind: 'create',
    // Its answer holds a secret of the gateway's own account.
    scope: 'admin',
    summary: 'Create the API key of a wallet and nonce',
    response: { 200: ApiKeyCredentials },
  },
  deriveApiKey: {
    method: 'GET',
    path: '/auth/derive-api-key',
    auth: 'l1',
    kind: 'read',
    scope: 'admin',
    summary: 'The API key that was created for a wallet and nonce',
    response: { 200: ApiKeyCredentials },
  },
  getApiKeys: {
    method: 'GET',
    path: '/auth/api-keys',
    auth: 'l2',
    kind: 'read',
    scope: 'orders:write',
    summary: 'The API keys of the wallet that owns the calling key',
    response: { 200: z.looseObject({ apiKeys: z.array(z.uuid()).readonly() }) },
  },
})
