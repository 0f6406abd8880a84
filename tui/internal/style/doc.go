// Package style is the only place of the terminal workbench that knows colours and glyphs. Colour never carries meaning
// alone: every state has a glyph and a word beside it, and every area a pattern of its own where there is no colour.
package style
