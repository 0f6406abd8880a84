// Command suppression measures how long it takes from when a service begins to use more CPU until best-effort pods are held back: real
// processes in real cgroups, the whole agent, and an API server in memory. It needs root and Linux, and creates cgroups below
// koord-bench-suppression, which it removes.
package main
