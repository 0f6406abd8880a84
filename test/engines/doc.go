// Package engines runs the schedulers and engines that koord works with for real: downloaded from their projects by pinned checksums, cached
// outside of the repository, and only where the tests are asked for with KOORD_TEST_ENGINES=required.
package engines
