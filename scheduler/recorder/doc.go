// Package recorder is the scheduler's flight recorder: the last attempts to place each pod, with what refused the nodes and
// how the best ones scored. It answers why a pod is where it is, at the time it was put there, and what differed between
// two attempts. It is bounded in memory, and cheap enough to be always on.
package recorder
