// Package zonequota is the example of docs/plugin-development.md: a scheduler plugin that bounds the pods of one team in
// each zone, and prefers zones with few of them. It is compiled and tested, and in no program.
package zonequota
