// Package unknown names the inputs of a decision that could not be read. Nothing follows from the absence of such an input: a
// sum over it is not zero, a configuration that was not read is not the default, and no finding is made of it.
package unknown
