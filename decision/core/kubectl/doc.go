// Package kubectl describes edits of single objects as the kubectl command that makes them and the request that it sends, so that
// what a person is told to run can be tried by a server-side dry run first.
package kubectl
