// Package suggest finds the name that was meant when one that does not exist was given.
package suggest
