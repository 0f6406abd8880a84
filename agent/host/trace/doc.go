// Package trace reads recorded CPU usage and replays it as the load of simulated services. Two forms of CSV are read.
//
// A service's recording has the header "ts,value": Unix seconds in ascending order, and a value in whatever unit it was
// recorded, cores or percent. Because the unit is not known and the recorded machine is not the simulated one, the
// recording is scaled so that its own maximum becomes 40 to 60 % of a pod's request; which percentage is drawn from the
// workload's name.
//
// A table of machines has the header "interval,NAME,NAME,...": one column a VM, one row every five minutes, numbered in
// the first column, in percent of the VM's limit. A percent of the limit becomes a percent of a pod's request.
//
// Between two rows the load is interpolated linearly, and after the last row a recording repeats. Rows of a recording with timestamps
// that are further apart than usual are interpolated in the same way. All times are simulated times; a recording with timestamps keeps
// its time of day as long as it spans whole days.
package trace
