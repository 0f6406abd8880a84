// Package jobinsight learns what batch jobs use and how long they run, for predictions of the next ones. The leader watches pods of Jobs and of
// Spark, and pods with the annotation koordinator.sh/job-application, follows their usage in NodeMetrics, and keeps what it learned in ConfigMaps.
package jobinsight
