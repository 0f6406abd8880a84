// Package release installs the chart compiled into the program as a Helm release: what `helm list` shows afterwards is an
// ordinary release that Helm itself can upgrade, roll back and remove.
//
// Beyond what Helm does, custom resource definitions are applied, and upgraded, before the release, a release that a killed
// installer left pending is taken over, and a dry run says object by object what would change.
package release
