// Package view arranges what people look at: the rows of a timeline with their places in the
// graph, titles, flags and folds, and the words, counts and sections of a plan. The service gathers the input and every user interface
// draws the output, so that two of them cannot disagree.
//
// It computes and touches nothing: no I/O, no clock, no widths, no colors. Its texts are raw;
// who draws them escapes them.
//
//	L1  Every checkpoint of the input is in exactly one row, or inside of one.
//	L2  The work grows with the number of checkpoints, not with its square.
package view
