// Package plugintest has the Handle and the Evictor that tests of plugins run them with.
package plugintest
