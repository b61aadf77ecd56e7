import { bundleFromJSON } from "@sigstore/bundle";
import { toSignedEntity, Verifier } from "@sigstore/verify";
import { createPublicKey } from "node:crypto";

/** Sigstore's verifier for a key in PEM, without its transparency log, as for any bundle with a public key. */
export function officialVerifier(pem: string): (dsseEnvelope: object) => void {
  const key = { publicKey: createPublicKey(pem), validFor: () => true };
  const none = { certificateAuthorities: [], timestampAuthorities: [], tlogs: [], ctlogs: [] };
  const thresholds = { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0 };
  const verifier = new Verifier({ ...none, publicKey: () => key }, thresholds);
  const mediaType = "application/vnd.dev.sigstore.bundle.v0.3+json";
  const verificationMaterial = { publicKey: { hint: "key" } };
  return (dsseEnvelope) => {
    verifier.verify(toSignedEntity(bundleFromJSON({ mediaType, verificationMaterial, dsseEnvelope })));
  };
}
