// Without case, width, and what is not seen, as app/services/accounts/names folds: in capitals first, for ß is SS.
export function folded(text) {
  const seen = text.replace(/\p{Default_Ignorable_Code_Point}/gu, "").normalize("NFKC");
  const small = seen.toUpperCase().toLowerCase().replaceAll("ς", "σ").normalize("NFKC");
  return small.replace(/[\s\u2800]+/gu, " ").trim();
}
