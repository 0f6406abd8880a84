// Package disclosure is what of an answer its caller may see: objects that the caller may get are named, the others counted.
package disclosure
