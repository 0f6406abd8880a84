// Package spark is the tutorial in which Spark runs beside a service on one node: it counts words with what the service leaves, gives
// way when the service needs more, and takes it back afterwards.
package spark
