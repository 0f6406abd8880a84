// Package program gives back memory of the agent's own program.
package program
