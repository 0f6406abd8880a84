// Package messages translates what people read, from one catalogue. Its keys are the English texts, or their formats where amounts and
// names stand in them. English is the language of the code, and what is printed where the catalogue has no entry.
package messages
