package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The prompts of payments. None is part of another.
const (
	promptPay     = "Pay the invoice."
	promptAgain   = "The invoice is open, do it."
	promptThird   = "Try the payment a third time."
	promptPublish = "Publish the package now."
)

// pays runs a program that writes what it was told into a file outside the workspace, as a bank would.
const (
	payCommand     = "../bin/stripe charges create --amount 500"
	publishCommand = "../bin/twine upload dist/app.whl"
)

func payments(h hands) script {
	var s script
	for _, p := range []string{promptPay, promptAgain, promptThird} {
		s = append(s, job{p, []step{h.write("paid.txt", p), h.shell(payCommand), {Text: "The payment was tried."}}})
	}
	return append(s, job{promptPublish, []step{h.shell(publishCommand), {Text: "The upload was tried."}}})
}

// payAgain pays, goes back, and pays again: that is told, and stopped if the policy says so.
func (b *bed) payAgain() error {
	if err := b.addPrograms("stripe", "twine"); err != nil {
		return err
	}
	if _, err := b.payOnce(promptPay); err != nil {
		return err
	}
	b.check(b.runsOf("stripe") == 1, "the first payment was made")
	talk, err := b.payOnce(promptAgain)
	if err != nil {
		return err
	}
	b.check(b.runsOf("stripe") == 2, "by default the same payment is made again")
	list, err := b.effects()
	if err != nil {
		return err
	}
	b.check(len(list) == 2 && list[1].Repeats == list[0].ID, "and is marked: it repeats an external action from before undo")
	if b.agent.name != opencodeAgent.name { // which hears it with its next prompt
		b.check(holds(talk, "did the same already"), "and the model is told so")
	}

	if _, err := b.tell("config", "gate.repeat", "deny"); err != nil {
		return err
	}
	if talk, err = b.payOnce(promptThird); err != nil {
		return err
	}
	b.check(b.runsOf("stripe") == 2, "with gate.repeat deny the payment is not made a third time")
	b.check(holds(talk, "did the same already"), "and the model is told why")

	if _, err := b.tell("config", "gate.publish", "ask"); err != nil {
		return err
	}
	if err := b.prompt(b.agent.first(b.program, promptPublish)...); err != nil {
		return err
	}
	b.check(b.runsOf("twine") == 0, "with gate.publish ask, and nobody to ask, nothing is published")
	return nil
}

// payOnce lets the agent do one prompt, takes the turn back, and returns what the model was asked.
func (b *bed) payOnce(prompt string) ([]said, error) {
	before := len(b.model.requests())
	if _, err := b.turn(prompt, ""); err != nil {
		return nil, err
	}
	var talk []said
	for _, q := range b.model.requests()[before:] {
		talk = append(talk, q.Talk...)
	}
	_, err := b.tell("undo", "--yes")
	return talk, err
}

// addPrograms makes programs that note each run outside the workspace.
func (b *bed) addPrograms(names ...string) error {
	dir := filepath.Join(b.home(), "bin")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		text := fmt.Sprintf("#!/bin/sh\necho \"$*\" >> '%s'\n", b.runsFile(name))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			return err
		}
	}
	return nil
}

func (b *bed) runsFile(name string) string { return filepath.Join(b.home(), name+".runs") }

// runsOf counts the runs of a program.
func (b *bed) runsOf(name string) int {
	text, err := os.ReadFile(b.runsFile(name))
	if err != nil {
		return 0 // it never ran
	}
	return strings.Count(string(text), "\n")
}

// effect is what the driver reads of "retake effects --json".
type effect struct {
	ID      string `json:"id"`
	Outcome string `json:"outcome"`
	Repeats string `json:"repeats"`
}

func (b *bed) effects() ([]effect, error) {
	var answer struct {
		Effects []effect `json:"effects"`
	}
	err := b.ask(&answer, "effects")
	return answer.Effects, err
}
