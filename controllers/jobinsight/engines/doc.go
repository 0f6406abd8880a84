// Package engines reads what engines tell of applications that ended. An engine is a file and its entry in the table of types.
package engines
