// Package part says what a plugin of the scheduler declares: its factory, the state that its instances in all profiles share,
// what it watches, runs and serves, and how explanations get a view of that state in which something else is supposed. The
// scheduler, its explanations and its tests work on a Set of parts and know none of them by name; scheduler/plugins lists them.
package part
