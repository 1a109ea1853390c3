import { useEffect, useState } from "react";

/** A number that changes when a font has come: a canvas keeps the letters with which it was drawn. */
export function useFonts(): number {
  const [loaded, setLoaded] = useState(0);
  useEffect(() => {
    // Not every document has them: that of component tests does not.
    const fonts = document.fonts as FontFaceSet | undefined;
    const count = () => setLoaded((before) => before + 1);
    fonts?.addEventListener("loadingdone", count);
    return () => fonts?.removeEventListener("loadingdone", count);
  }, []);
  return loaded;
}
