// Package jobprediction writes to pods of jobs, when they are created, how long they are expected to take.
package jobprediction
