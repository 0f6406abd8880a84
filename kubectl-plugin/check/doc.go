// Package check declares what `koordctl check` verifies. A check is data and a pure function over facts that were read before, so that
// a check needs no cluster to be tested, and one part of a cluster is read once for all checks.
//
// Checks report findings of the catalogue. Their severities decide whether a check passed, and the catalogue has the fix and the
// documentation of each.
package check
