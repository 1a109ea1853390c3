def check(process_output, judge_output, judge_input, **kwargs):
    """The letters of the input, none of them where it was."""
    said = process_output.decode(errors="replace").strip()
    given = judge_input.decode().strip()
    if sorted(said) != sorted(given):
        return False
    return all(one != other for one, other in zip(said, given))
