// Package pluginargs reads the arguments of scheduler plugins: strictly, so that a field that is misspelt or in the wrong
// place is an error when the scheduler starts, and not a default that was not asked for.
package pluginargs
