/**
 * `ralph/feature`: the feature workflow, with the services and browser checks that its stories may need.
 *
 * @module
 */
export { browserCheck, type BrowserCheckOptions } from "../checks/browser/check.ts";
export { type PageUrl, pageUrls } from "../checks/browser/urls.ts";
export { openServices, type Services } from "../services/create_services.ts";
export { featureBacklog, type FeatureBacklogOptions, type FeatureItemData } from "../workflows/feature/backlog.ts";
export type { FeatureDirectory } from "../workflows/feature/directories.ts";
export { featureInterface } from "../workflows/feature/feature_interface.ts";
export { type FeatureFindings, featureSignals } from "../workflows/feature/claim.ts";
export { lockFeature, openFeature } from "../workflows/feature/open_feature.ts";
export type { PrdOutcome } from "../workflows/feature/prd/turn.ts";
export { prd, type PrdOptions } from "../workflows/feature/prd/prd.ts";
export type { UserInterface } from "../workflows/feature/checks.ts";
export type { FeaturePrd, FeatureRun, FeatureStory, LastResult } from "../workflows/feature/types.ts";
export { validateFeaturePrd } from "../workflows/feature/validate.ts";
