// Package tui is the terminal workbench: the co-location story of a cluster, live, with the reason behind every number.
// It shows the results that the command line prints, from the same source, and changes nothing.
//
// There is one root model. Questions are asked in commands, never in Update; every answer carries the generation of its
// question, so that a late one is dropped. View depends on the model and its clock alone.
package tui
