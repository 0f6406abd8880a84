// Package ownership finds which fields of an object a field manager wrote last, so that a controller takes back what it
// put there and nothing else.
package ownership
