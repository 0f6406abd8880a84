// Package tui is the terminal workbench: the co-location story of a cluster, live, with the reason behind every number.
// It shows the results that the command line prints, from the same source. Of what it shows it changes the configuration alone, after the
// plan of the change and a yes.
//
// There is one root model. Questions are asked in commands, never in Update; every answer carries the generation of its
// question, so that a late one is dropped. View depends on the model and its clock alone.
//
// A view is declared once, by a screen in the file of its name (nodes.go, pods.go, migrations.go and so on; detail.go has
// describe and yaml), and registered by one line in screens.go. A page is a screen with the object it is about, on the stack that esc
// goes back through. A screen that explains a kind of object declares that as its subject, by which describe, yaml and
// completion know the kind.
package tui
