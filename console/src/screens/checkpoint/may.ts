// Whether the asker may go back here, or only look.
import { usePowers } from "../../api/powers.ts";

export const useMayReturn = (): boolean => usePowers().may("return");
