"""TRL, from its package: `GRPOTrainer` trains a tiny model on the adapter's rewards. In place of what such a model
says, the adapter gets answers whose rewards are known; each reward of a step, and their mean in TRL's log, is
compared."""

import harness
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import GRPOConfig, GRPOTrainer

from assay.adapters.trl import reward_func

GROUP, STEP = 8, 32


def tiny():
    letters = [chr(code) for code in range(32, 127)] + ["\n"]
    vocabulary = {letter: at for at, letter in enumerate(["<pad>", "<eos>", *letters])}
    plain = Tokenizer(models.WordLevel(vocabulary, unk_token="<pad>"))
    plain.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    plain.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=plain, pad_token="<pad>", eos_token="<eos>")
    model = Qwen2ForCausalLM(Qwen2Config(
        vocab_size=len(vocabulary), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, bos_token_id=None, eos_token_id=1, pad_token_id=0))
    return model, tokenizer


def drive(trial):
    judge = reward_func("math@prod", run="trl", label="label")
    waiting, means = iter(trial.cases), []

    async def assay(prompts, completions, **columns):
        cases = [next(waiting) for _ in completions]
        for case in cases:
            trial.before(case)
        columns["label"] = [case.label for case in cases]
        rewards = await judge(prompts=[case.prompt for case in cases], completions=[case.response for case in cases],
                              **columns)
        for case, reward in zip(cases, rewards, strict=True):
            trial.got(case, reward)
        means.append(sum(rewards) / len(rewards))
        return rewards

    model, tokenizer = tiny()
    rows = Dataset.from_list([{"prompt": f"{number} = ", "label": ""} for number in range(64)])
    trainer = GRPOTrainer(
        model=model, processing_class=tokenizer, train_dataset=rows, reward_funcs=[assay],
        args=GRPOConfig(output_dir=str(trial.service.folder / "trained"), max_steps=len(trial.cases) // STEP,
                        per_device_train_batch_size=STEP, num_generations=GROUP, max_completion_length=8, use_cpu=True,
                        report_to=[], save_strategy="no", logging_steps=1))
    trainer.train()
    logged = [row["reward"] for row in trainer.state.log_history if "reward" in row]
    if [round(mean, 3) for mean in means] != [round(mean, 3) for mean in logged]:
        trial.failures.append(f"TRL logged the means {logged} of {means}")


harness.run_whole("trl", drive, harness.sums(20 * STEP))
