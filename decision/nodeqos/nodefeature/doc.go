// Package nodefeature declares the features of the node agent: the name and default of each gate, what configures it and where it is
// documented. Each feature has a file here and a line in All. The agent adds what only it knows, such as what a feature needs of the
// kernel; the objects-only answer, the checks of the configuration and the tables of the docs are derived from these declarations.
package nodefeature
