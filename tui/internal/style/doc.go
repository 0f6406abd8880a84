// Package style is the only place of the terminal workbench that knows colours and glyphs. Colour never carries meaning
// alone: every state has a glyph and a word beside it, and every area its own pattern where there is no colour.
package style
