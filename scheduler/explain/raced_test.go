//go:build race

package explain

// raced is true when the race detector watches, which makes everything several times slower and looks for something else than
// rare clusters.
const raced = true
