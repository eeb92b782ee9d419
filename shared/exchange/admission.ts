import { type L1Caller, verifyL1 } from '../kernel/auth/l1.ts'
import { type L2Request, verifyL2 } from '../kernel/auth/l2.ts'
import { AppError } from '../kernel/errors.ts'
import type { ApiKey } from './api-key.ts'

/** One text for every fault of the L1 headers, as the public error catalogue has it. */
export class InvalidL1HeadersError extends AppError {
  override readonly name = 'InvalidL1HeadersError'
  readonly code = 'exchange.invalid_l1_headers'
  readonly status = 401

  constructor() {
    super('Invalid L1 Request headers')
  }
}

/** One text for every fault of the L2 headers, so that answers tell nothing about which keys exist. */
export class InvalidApiKeyError extends AppError {
  override readonly name = 'InvalidApiKeyError'
  readonly code = 'exchange.invalid_api_key'
  readonly status = 401

  constructor() {
    super('Unauthorized/Invalid api key')
  }
}

/**
 * The wallet that signed a request's L1 headers.
 *
 * @throws {InvalidL1HeadersError} a header is missing, malformed, out of time, or of another wallet or chain
 */
export function admitL1(headers: Headers, chainId: number, nowMs: number): L1Caller {
  const caller = verifyL1(headers, chainId, nowMs)
  if (!caller) throw new InvalidL1HeadersError()
  return caller
}

/**
 * The API key that signed a request's L2 headers.
 *
 * @param key the key that the headers name; undefined when there is none
 * @throws {InvalidApiKeyError} unknown key, or a header that is missing, wrong or out of time
 */
export async function admitL2(request: L2Request, key: ApiKey | undefined, nowMs: number): Promise<ApiKey> {
  const isValid = await verifyL2(request, key, nowMs)
  if (!isValid || !key) throw new InvalidApiKeyError()
  return key
}
