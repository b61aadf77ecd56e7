/**
 * Envelopes around a statement, and their signatures: DSSE v1 (github.com/secure-systems-lab/dsse).
 *
 * @module
 */
import { PAYLOAD_TYPE } from "./names.ts";

/** The bytes that a signature is made of: the payload with its type and lengths. Pure. */
export function signedBytes(payload: string): Buffer {
  const bytes = Buffer.from(payload);
  return Buffer.concat([Buffer.from(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${bytes.length} `), bytes]);
}

/** An envelope as one line. Pure. @param signature `null`: it is not signed */
export function envelopeOf(
  payload: string,
  signature: { readonly keyid: string; readonly bytes: Uint8Array } | null,
): string {
  const signatures = signature === null
    ? []
    : [{ keyid: signature.keyid, sig: Buffer.from(signature.bytes).toString("base64") }];
  return JSON.stringify({
    payloadType: PAYLOAD_TYPE,
    payload: Buffer.from(payload).toString("base64"),
    signatures,
  });
}
