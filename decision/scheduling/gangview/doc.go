// Package gangview says how gangs fare: the state of each in a word, why its members have no node, and what happens next. It reads what
// package gang decided from the same objects.
package gangview
