// Package livecgroup tests the agent on the kernel that runs the tests: what it writes into cgroups is taken, has the effect that
// it is meant to have, and is given back. The tests are the same for either version of cgroups: on a machine they meet the one
// that is mounted there, and in the guest of package guest they meet version 2. They need root, and are skipped where the
// machine has not got what they are about.
package livecgroup
