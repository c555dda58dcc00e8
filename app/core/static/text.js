// Comparison and completion of texts.

// Ignores case, width and invisible characters, like names.build_key. Upper case comes first
// because the upper case of ß is SS.
export function foldText(text) {
  const visible = text.replace(/\p{Default_Ignorable_Code_Point}/gu, "").normalize("NFKC");
  const folded = visible.toUpperCase().toLowerCase().replaceAll("ς", "σ").normalize("NFKC");
  return folded.replace(/\s+/gu, " ").trim();
}

export const fillTemplate = (template, values) => template.replace(/{(\w+)}/g, (_, name) => values[name]);
