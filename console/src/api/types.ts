// The types of the API, made from api/openapi.yaml with those of the TypeScript SDK.
export type * from "../../../sdk/typescript/types.d.ts";
