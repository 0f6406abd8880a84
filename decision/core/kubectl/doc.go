// Package kubectl describes edits of single objects as the kubectl command that makes them and the request that it sends, so that
// a command that is recommended can be tried by a server-side dry run first.
package kubectl
