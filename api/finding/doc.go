// Package finding is the one catalogue of the system's finding codes: what each KOORDnnnn means, what causes it, what
// fixes it, in English and Chinese. Refusals, conditions, events, errors and the documentation all draw on it.
package finding
