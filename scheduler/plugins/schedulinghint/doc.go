// Package schedulinghint places pods on the nodes that another controller proposes in an annotation: on those alone, or on
// the first of those that is free.
package schedulinghint
