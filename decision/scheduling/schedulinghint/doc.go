// Package schedulinghint reads the nodes that a pod's scheduling hint proposes, and says for which of them it speaks.
package schedulinghint
