// Completion of texts.

export const fillTemplate = (template, values) => template.replace(/{(\w+)}/g, (_, name) => values[name]);
