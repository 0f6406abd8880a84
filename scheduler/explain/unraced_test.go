//go:build !race

package explain

const raced = false
